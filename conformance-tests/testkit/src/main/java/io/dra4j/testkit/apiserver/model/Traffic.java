// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

/**
 * Requests, and their bytes in both directions; averages have fractions.
 *
 * <p>Bytes are those of heads and bodies as HTTP/1.1 writes them, including events of watches; TLS, the frames of chunks,
 * and the compressed heads of HTTP/2 are not counted.
 *
 * @param requests their number
 * @param received what clients sent, in bytes
 * @param sent what clients received, in bytes
 */
public record Traffic(double requests, double received, double sent) {

    public static final Traffic NONE = new Traffic(0, 0, 0);

    /** Returns this plus a multiple of another. */
    public Traffic and(Traffic other, double times) {
        return new Traffic(
                requests + times * other.requests, received + times * other.received, sent + times * other.sent);
    }
}
