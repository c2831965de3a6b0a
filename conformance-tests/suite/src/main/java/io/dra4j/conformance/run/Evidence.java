// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import java.util.List;

/**
 * The evidence that was gathered while a requirement was checked.
 *
 * @param calls the gRPC calls and steps, a line each
 * @param requests the driver's requests to the API server, as a table
 * @param files the CDI directory in the end, a line for each file
 * @param log what the driver wrote
 */
public record Evidence(List<String> calls, String requests, String files, String log) {

    /** Evidence of a requirement that was not checked. */
    public static final Evidence NONE = new Evidence(List.of(), "", "", "");

    public Evidence {
        calls = List.copyOf(calls);
    }
}
