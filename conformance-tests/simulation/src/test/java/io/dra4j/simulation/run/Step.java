// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.run;

/**
 * A step of a plan. One that is not possible when its time comes changes nothing, so that each can be left out.
 *
 * @param number of the step in the plan that the seed gives
 * @param millis of virtual time since the start
 * @param which one of the objects that there are is meant: by its index, modulo their number
 * @param count of operations until it happens, or of seconds that it lasts
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
