// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

/** Why a claim is not prepared, or not unprepared, in the words that the kubelet gets. */
final class Refused extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Refused(String message) {
        super(message);
    }
}
