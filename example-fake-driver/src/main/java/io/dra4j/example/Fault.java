// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.device.Taint;

/** What is wrong with a device. */
sealed interface Fault {

    /** It works badly, or not at all, and is offered with a taint. */
    record Tainted(Taint.Effect effect, String reason) implements Fault {}

    /** It is not there, and is not offered. */
    record Absent() implements Fault {}
}
