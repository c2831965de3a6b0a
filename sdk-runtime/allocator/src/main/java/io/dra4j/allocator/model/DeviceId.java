// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

/** The identity of a device in a cluster. */
public record DeviceId(String driver, String pool, String device) {

    /** The form that Kubernetes' messages have. */
    @Override
    public String toString() {
        return driver + "/" + pool + "/" + device;
    }
}
