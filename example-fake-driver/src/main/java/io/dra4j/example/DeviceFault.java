// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.device.Taint;
import io.dra4j.api.health.HealthState;

/** A fault of a device. */
sealed interface DeviceFault {

    /** The device works badly or not at all, and is offered with a taint. */
    record Tainted(Taint.Effect effect, String reason) implements DeviceFault {}

    /** The device is absent, and is not offered. */
    record Absent() implements DeviceFault {}

    /** The device is offered as before, and its self-test reports the message. */
    record Unwell(HealthState state, String message) implements DeviceFault {}

    /** The device is offered as before, and its self-test hangs. */
    record Silent() implements DeviceFault {}
}
