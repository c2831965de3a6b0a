// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.driver.DriverUnusable;
import java.util.Optional;

/**
 * Tries whether two instances of a driver can run at the same time, each at its own place.
 *
 * @param first a test context whose driver runs
 * @param second another, whose driver was not started
 */
record SecondInstance(TestContext first, TestContext second) {

    /**
     * Starts the second one next to the first. If that does not work it is started alone.
     *
     * @return why it runs only alone, as a note, and the first does not run any more then; empty if
     *     both run, or it does not run alone either
     */
    Optional<String> conflict() {
        Optional<String> problem = problem();
        if (problem.isEmpty()) {
            return problem;
        }
        first.driver().close();
        second.driver().close();
        try {
            second.driver().start();
            second.awaitPools();
            return problem.map("""
                    The execution groups ran one after the other, as with driver.process.serial (--serial): the driver runs alone, and \
                    not while another instance runs with other directories and as another node. It looks as if it needs something that \
                    only one instance can have, such as a fixed port. %s"""::formatted);
        } catch (DriverUnusable e) {
            return Optional.empty();
        }
    }

    private Optional<String> problem() {
        try {
            second.driver().start();
            second.awaitPools();
            return first.driver().isAlive() && second.driver().isAlive()
                    ? Optional.empty()
                    : Optional.of("One of the two ended: "
                            + (first.driver().isAlive() ? second : first)
                                    .driver()
                                    .fate());
        } catch (DriverUnusable e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
