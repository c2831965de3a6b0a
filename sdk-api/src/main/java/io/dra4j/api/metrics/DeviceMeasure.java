// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.metrics;

/**
 * A quantity of a device, in its base unit.
 *
 * <p>Counters grow from any start, and may begin again; the driver's page of metrics serves them as
 * they are. Each measure is served as one metric, which has the same name for all vendors.
 */
public enum DeviceMeasure {
    /** The part of the time in which the device worked, of late: 0 to 1. */
    UTILIZATION,
    /** The memory in use, in bytes. */
    MEMORY_USED,
    /** The memory that there is, in bytes. */
    MEMORY_SIZE,
    /** The power that the device draws, in watts. */
    POWER,
    /** The energy that the device has used, in joules; a counter. */
    ENERGY,
    /** The temperature, in degrees Celsius. */
    TEMPERATURE,
    /** Errors of the memory that were corrected; a counter. */
    CORRECTED_MEMORY_ERRORS,
    /** Errors of the memory that could not be corrected; a counter. */
    UNCORRECTED_MEMORY_ERRORS,
    /** Faults that the device reported, such as XIDs; a counter. */
    FAULTS,
    /** Bytes sent to other devices by a link of their own, such as NVLink; a counter. */
    LINK_SENT,
    /** Bytes received from other devices by a link of their own; a counter. */
    LINK_RECEIVED,
    /** Bytes sent to the machine, by PCIe for instance; a counter. */
    BUS_SENT,
    /** Bytes received from the machine; a counter. */
    BUS_RECEIVED
}
