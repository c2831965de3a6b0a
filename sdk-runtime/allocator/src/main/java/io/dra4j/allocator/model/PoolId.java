// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.model;

/** The identity of a pool: names of pools are unique for one driver. */
public record PoolId(String driver, String pool) implements Comparable<PoolId> {

    @Override
    public int compareTo(PoolId other) {
        int byDriver = driver.compareTo(other.driver);
        return byDriver != 0 ? byDriver : pool.compareTo(other.pool);
    }

    /** The form that Kubernetes' messages have. */
    @Override
    public String toString() {
        return driver + "/" + pool;
    }
}
