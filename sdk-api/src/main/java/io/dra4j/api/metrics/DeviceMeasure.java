// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.metrics;

/**
 * A quantity of a device, in its base unit.
 *
 * <p>Counters may start at any value and may reset; the driver's metrics endpoint serves them as they are. Each measure
 * is served as one metric, which has the same name for all vendors.
 */
public enum DeviceMeasure {
    /** The fraction of recent time in which the device was busy: 0 to 1. */
    UTILIZATION,
    /** The memory in use, in bytes. */
    MEMORY_USED,
    /** The total memory, in bytes. */
    MEMORY_SIZE,
    /** The power that the device draws, in watts. */
    POWER,
    /** The energy that the device has used, in joules; a counter. */
    ENERGY,
    /** The temperature, in degrees Celsius. */
    TEMPERATURE,
    /** Memory errors that were corrected; a counter. */
    CORRECTED_MEMORY_ERRORS,
    /** Memory errors that could not be corrected; a counter. */
    UNCORRECTED_MEMORY_ERRORS,
    /** Faults that the device reported, such as XIDs; a counter. */
    FAULTS,
    /** Bytes sent to other devices over a dedicated link, such as NVLink; a counter. */
    LINK_SENT,
    /** Bytes received from other devices over a dedicated link; a counter. */
    LINK_RECEIVED,
    /** Bytes sent to the host, for instance over PCIe; a counter. */
    BUS_SENT,
    /** Bytes received from the host; a counter. */
    BUS_RECEIVED
}
