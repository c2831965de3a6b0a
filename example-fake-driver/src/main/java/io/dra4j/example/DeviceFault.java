// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.device.Taint;
import io.dra4j.api.health.HealthState;

/** A fault of a device. */
sealed interface DeviceFault {

    /** It works badly, or not at all, and is offered with a taint. */
    record Tainted(Taint.Effect effect, String reason) implements DeviceFault {}

    /** It is not there, and is not offered. */
    record Absent() implements DeviceFault {}

    /** It is offered as before, and its self-test reports the message. */
    record Unwell(HealthState state, String message) implements DeviceFault {}

    /** It is offered as ever, and its self-test hangs. */
    record Silent() implements DeviceFault {}
}
