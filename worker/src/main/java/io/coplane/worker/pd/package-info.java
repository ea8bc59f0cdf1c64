/** The client of PD: members, leader, stores, regions, keyspaces, safe points, timestamps and file ids (worker.md 18). Enter through {@code PdClient}. */
package io.coplane.worker.pd;
