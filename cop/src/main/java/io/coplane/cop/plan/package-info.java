/**
 * From a DAGRequest to a pipeline (coprocessor.md 3.1, 3.2): context, ranges, executors, output. One request, one thread.
 */
package io.coplane.cop.plan;
