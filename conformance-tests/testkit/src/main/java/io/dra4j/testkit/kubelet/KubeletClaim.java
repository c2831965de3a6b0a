// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.kubelet;

/** A claim as the kubelet passes it to a driver; tests may use invalid text. */
public record KubeletClaim(String namespace, String name, String uid) {}
