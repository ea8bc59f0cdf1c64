/** Tests of remote compactions. */
package io.coplane.compaction;
