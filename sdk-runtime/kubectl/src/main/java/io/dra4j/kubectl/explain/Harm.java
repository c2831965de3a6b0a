// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

/** The costs of a change, the least first. */
enum Harm {
    /** A claim that no pod uses is deleted, or something is repaired. */
    NONE,
    /** The pod may go to more nodes. */
    OTHER_NODE,
    /** The pod gets something other than it requests. */
    OWN_CLAIM,
    /** The pod, or all pods of a class, may get devices that were kept away from it. */
    RISK,
    /** Running pods of the same namespace lose their devices. */
    ENDS_PODS_OF_NAMESPACE,
    /** Running pods of other namespaces lose their devices. */
    ENDS_PODS_OF_OTHERS;

    boolean endsPods() {
        return compareTo(ENDS_PODS_OF_NAMESPACE) >= 0;
    }
}
