/** Tests of the file formats. */
package io.coplane.sst;
