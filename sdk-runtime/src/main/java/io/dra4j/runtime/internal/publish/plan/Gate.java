// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish.plan;

/**
 * The feature gate of a field: in which releases of Kubernetes it is, and where it is on.
 *
 * @param name the gate's name
 * @param since the first minor release with the field
 * @param until the last minor release with the field
 * @param onSince the first minor release in which the gate is on by default
 */
public record Gate(String name, int since, int until, int onSince) {

    private static final int FIRST = 34;
    private static final int NEVER = Integer.MAX_VALUE;

    /** Returns a gate that is off by default, in all releases so far. */
    static Gate off(String name, int since) {
        return new Gate(name, since, NEVER, NEVER);
    }

    /** Returns a gate that is on by default from a release on. */
    static Gate on(String name, int since, int onSince) {
        return new Gate(name, since, NEVER, onSince);
    }

    /** Returns this gate for a field that a later release does not have any more. */
    Gate until(int last) {
        return new Gate(name, since, last, onSince);
    }

    /** Returns whether a release has the field. */
    public boolean isIn(int minor) {
        return since <= minor && minor <= until;
    }

    /** Returns whether the gate is on by default in a release that has the field. */
    public boolean isOnIn(int minor) {
        return isIn(minor) && onSince <= minor;
    }

    /** Returns the gate's name, with the releases that have the field if it is not in all. */
    public String text() {
        if (until < NEVER) {
            return name + ", Kubernetes 1." + since + " to 1." + until;
        }
        return since > FIRST ? name + ", Kubernetes 1." + since + " and later" : name;
    }
}
