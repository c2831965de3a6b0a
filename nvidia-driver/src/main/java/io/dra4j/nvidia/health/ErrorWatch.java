// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

/** When the driver waits for errors of GPUs, which requires an open NVML session. */
public enum ErrorWatch {
    /**
     * While a claim holds a GPU, or with on-demand MIG devices: the GPUs of an idle node can be reset, and its driver
     * updated.
     */
    auto,
    always,
    /** Never: only the loss of a GPU is noticed, at the next reading. */
    never
}
