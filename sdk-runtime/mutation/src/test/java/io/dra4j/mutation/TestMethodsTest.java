// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.mutation.TestMethods.TestMethod;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.launcher.core.LauncherFactory;
import org.pitest.testapi.Description;
import org.pitest.testapi.ResultCollector;
import org.pitest.testapi.TestUnit;

class TestMethodsTest {
    private static final String METHOD = "isNotTwo(int)";

    private final Results results = new Results();

    @Test
    void aMethodIsOneTestAndTheExcludedTagIsNone() {
        assertThat(TestMethods.find(SampleCases.class, List.of("slow")))
                .extracting(unit -> unit.getDescription().getName())
                .containsExactlyInAnyOrder(METHOD, "Inner.passes()");
    }

    @Test
    void theTestsOfANestedClassAreThoseOfItsOuterClass() {
        assertThat(TestMethods.find(SampleCases.Inner.class, List.of())).isEmpty();
    }

    @Test
    void aMethodFailsIfOneOfItsInvocationsDoes() {
        SampleCases.runs = 0;
        for (TestUnit unit : TestMethods.find(SampleCases.class, List.of())) {
            unit.execute(results);
        }

        assertThat(SampleCases.runs).isEqualTo(3);
        assertThat(results.lines)
                .containsExactlyInAnyOrder(METHOD + " fails", "Inner.passes() passes", "isSlow() passes");
    }

    @Test
    void onceThreeClassesHaveKilledTheMutantTheRestIsSkipped() {
        Killers killers = new Killers();
        TestMethod test = new TestMethod(
                SampleCases.class,
                UniqueId.forEngine("junit-jupiter")
                        .append("class", SampleCases.class.getName())
                        .append("test-template", METHOD),
                LauncherFactory.create(),
                killers);
        List.<Class<?>>of(String.class, Integer.class, Long.class).forEach(killers::add);
        test.execute(results); // before the first mutant a failure is not a kill

        killers.nextMutant();
        List.<Class<?>>of(String.class, Integer.class).forEach(killers::add);
        test.execute(results);
        test.execute(results);
        killers.nextMutant();
        test.execute(results);

        assertThat(results.lines)
                .containsExactly(METHOD + " fails", METHOD + " fails", METHOD + " is skipped", METHOD + " fails");
    }

    private static final class Results implements ResultCollector {
        final List<String> lines = new ArrayList<>();

        @Override
        public void notifyEnd(Description test, Throwable failure) {
            lines.add(test.getName() + " fails");
        }

        @Override
        public void notifyEnd(Description test) {
            lines.add(test.getName() + " passes");
        }

        @Override
        public void notifyStart(Description test) {}

        @Override
        public void notifySkipped(Description test) {
            lines.add(test.getName() + " is skipped");
        }

        @Override
        public boolean shouldExit() {
            return false;
        }
    }
}
