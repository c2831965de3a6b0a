// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.claim;

/** The origin of a configuration; later sources take precedence over earlier ones. */
public enum ConfigSource {
    /** No entry applied: the type's defaults. */
    DEFAULT,
    /** An entry of the DeviceClass, written by the cluster's admin. */
    FROM_CLASS,
    /** An entry of the ResourceClaim, written by a user. */
    FROM_CLAIM
}
