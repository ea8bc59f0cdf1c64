/** The worked examples of docs/embedding.md. They use nothing but the API that the page names. */
package io.coplane.worker.examples;
