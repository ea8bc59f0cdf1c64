/** The loops of compactions that run per entry: no allocation, no streams, no boxes. Internal to {@code io.coplane.compaction}. */
package io.coplane.compaction.kernel;
