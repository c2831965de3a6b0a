// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

/**
 * A step of a plan. A step that is not possible when its time comes changes nothing, so each can be left out.
 *
 * @param number the number of the step in the seed's plan
 * @param millis the virtual time since the start
 * @param which selects one of the existing objects: its index, modulo their number
 * @param count the number of operations until it happens, or of seconds that it lasts
 */
public record Step(int number, long millis, Action action, int which, int count) {

    Step at(long other) {
        return new Step(number, other, action, which, count);
    }

    @Override
    public String toString() {
        return action + " " + which + " " + count;
    }
}
