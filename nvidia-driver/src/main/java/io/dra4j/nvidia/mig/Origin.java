// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

/**
 * The origin of a GPU instance, as it is recorded. It distinguishes the instance from one that somebody else creates in
 * its place; number and UUID do not, since both are made of GPU, profile and place.
 *
 * @param moduleLoad the kernel module's load, with which the instance ends; empty if unknown
 * @param process the driver's process that created it
 * @param serial its place in that process's order of creation
 */
record Origin(String moduleLoad, String process, long serial) {

    /** The serial of an instance that may not have been created: no instance has it. */
    static final long NOT_CREATED = 0;

    /** Returns whether the instance has ended with the kernel module that it was created under. */
    boolean isBefore(String presentLoad) {
        return !moduleLoad.isEmpty() && !presentLoad.isEmpty() && !moduleLoad.equals(presentLoad);
    }

    /** Returns what no other instance has. */
    String key() {
        return process + "/" + serial;
    }
}
