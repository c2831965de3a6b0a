// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mig;

/**
 * The recorded origin of a GPU instance. It distinguishes the instance from one that others create in its place; number
 * and UUID do not, since both derive from GPU, profile and placement.
 *
 * @param moduleLoad the load of the kernel module, with which the instance ends; empty if unknown
 * @param process the driver's process that created it
 * @param serial its place in that process's order of creation
 */
record Origin(String moduleLoad, String process, long serial) {

    /** The serial of an instance that may not have been created; never used by an instance. */
    static final long NOT_CREATED = 0;

    /** Returns whether the instance ended when the kernel module was unloaded. */
    boolean isBefore(String presentLoad) {
        return !moduleLoad.isEmpty() && !presentLoad.isEmpty() && !moduleLoad.equals(presentLoad);
    }

    String key() {
        return process + "/" + serial;
    }
}
