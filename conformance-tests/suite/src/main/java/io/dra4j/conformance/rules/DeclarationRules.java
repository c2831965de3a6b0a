// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.requirements.Gate;
import io.dra4j.conformance.settings.DriverSettings;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Rules for capabilities that the vendor declares, against those that were seen. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record DeclarationRules(TestContext context) {

    /** Capabilities that show: the others are declared by the vendor. */
    private static final Set<String> SEEN =
            Set.of("api", "cdi", "hc", "both", "multi", "ctr", "bind");

    /** Capabilities that a vendor should not forget to declare. */
    private static final Set<String> OPTIONAL = Set.of("multi", "ctr", "bind");

    @Rule("DRA-DECL-01")
    void whatIsDeclaredIsThere() throws InterruptedException {
        new InfoRules(context).declaredServicesAreServed();
        List<String> declared = context.settings().driver().declares();
        Set<String> absent = new TreeSet<>(declared);
        absent.retainAll(SEEN);
        absent.removeAll(context.detected());
        Violation.unless(absent.isEmpty())
                .because(
                        "the settings declare %s, and nothing of it was seen; seen were %s",
                        absent, new TreeSet<>(context.detected()));
        Violation.unless(
                        !declared.contains(DriverSettings.NO_DEVICES)
                                || !context.detected().contains(Gate.DEV1.label()))
                .because(
                        "the settings declare %s, and the driver publishes devices",
                        DriverSettings.NO_DEVICES);
        Set<String> forgotten = new TreeSet<>(OPTIONAL);
        forgotten.retainAll(context.detected());
        declared.forEach(forgotten::remove);
        Violation.minorUnless(declared.isEmpty() || forgotten.isEmpty())
                .because("the driver has %s, which the settings do not declare", forgotten);
    }
}
