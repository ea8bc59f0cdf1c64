/** Speed of compactions. */
package io.coplane.compaction;
