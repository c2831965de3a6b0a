// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.http;

import java.io.IOException;

/** Answers requests that have passed all checks, on any thread. */
@FunctionalInterface
public interface Page {

    /**
     * Answers a request.
     *
     * @param accept the media types that the client prefers; empty for any
     * @param body the document; empty if the page takes none
     * @throws IOException if the connection should be closed without an answer
     */
    HttpAnswer answer(String accept, byte[] body) throws IOException;
}
