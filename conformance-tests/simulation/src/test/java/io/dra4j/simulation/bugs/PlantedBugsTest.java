// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.bugs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlantedBugsTest {

    static List<Bug> bugs() {
        return Bug.all();
    }

    /** A class is verified when it is initialized. */
    @ParameterizedTest
    @MethodSource("bugs")
    void eachFitsTheRuntimeAsItIs(Bug bug) throws ClassNotFoundException {
        BuggyLoader loader = new BuggyLoader(bug);

        assertThat(bug.changes()).isNotEmpty();
        for (Change change : bug.changes()) {
            assertThat(Class.forName(change.type(), true, loader).getClassLoader())
                    .isSameAs(loader);
        }
    }

    @Test
    void refusesOneThatFitsNowhere() {
        Change gone = Change.of("checkpoint.Journal#forget omit Journal.noSuchMethod");
        BuggyLoader loader = new BuggyLoader(new Bug("X-01", "It is out of date.", List.of(gone)));

        assertThatThrownBy(() -> Class.forName(gone.type(), true, loader)).hasMessageContaining("noSuchMethod");
    }
}
