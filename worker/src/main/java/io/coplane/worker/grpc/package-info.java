/** gRPC: the server of {@code cop-addr} and the channels to PD and stores (worker.md 9, 16). Enter through {@code GrpcServer}, {@code GrpcChannels}. */
package io.coplane.worker.grpc;
