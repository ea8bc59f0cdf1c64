/** DATE, DATETIME, TIMESTAMP and TIME values as numbers (expressions.md 6.1 to 6.8). Static functions; any thread. */
package io.coplane.types.time;
