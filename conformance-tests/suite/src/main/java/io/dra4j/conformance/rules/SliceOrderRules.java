// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.Pools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.testkit.proxy.Requests;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The order of devices over all slices, which is the scheduler's order of preference. */
@ExecutionGroup.On(ExecutionGroup.SLICES)
record SliceOrderRules(TestContext context, Publishing publishing) {

    /** The time without a write after which the writes of a start are over. */
    private static final Duration LOOK = Duration.ofSeconds(2);

    SliceOrderRules(TestContext context) {
        this(context, new Publishing(context));
    }

    @Rule("DRA-SLICE-21")
    void theOrderOfDevicesStays() throws InterruptedException {
        Pools before = publishing.settled();
        NotApplicable.unless(
                before.order().values().stream().anyMatch(devices -> devices.size() > 1),
                "no pool has two devices, which could be in another order");
        restart(before);
        if (context.hooks().has("unplug") && context.hooks().has("plug")) {
            changeAndRestore(before);
        } else {
            context.remark("without the hooks plug and unplug, only a restart was tried");
        }
    }

    private void restart(Pools before) throws InterruptedException {
        int number = context.proxy().lastNumber();
        context.driver().restart();
        if (awaitLastWrite(number)) {
            publishing.restored(before, "a restart", context.timeouts().repair());
        }
        compare(before, "a restart");
    }

    /**
     * Waits until the driver has looked at its slices and writes no more; returns whether it wrote.
     *
     * <p>The first write alone is too early: it is known before the API server has carried it out.
     */
    private boolean awaitLastWrite(int before) {
        publishing.happens(
                Requests.to("resourceslices").and(Requests.after(before)),
                context.timeouts().soon());
        long end = System.nanoTime() + context.timeouts().repair().toNanos();
        int last = before;
        while (publishing.writesWithin(last, LOOK) && System.nanoTime() < end) {
            last = context.proxy().lastNumber();
        }
        return last != before;
    }

    private void changeAndRestore(Pools before) throws InterruptedException {
        boolean isPlugged = false;
        try {
            context.hooks().run("unplug");
            publishing.await(
                    seen -> seen.settled() && !Publishing.like(before).test(seen),
                    context.timeouts().change());
            context.hooks().run("plug");
            isPlugged = true;
            publishing.restored(before, "the hook plug", context.timeouts().change());
        } finally {
            if (!isPlugged) {
                context.hooks().run("plug");
            }
        }
        compare(before, "the hooks unplug and plug");
    }

    private void compare(Pools before, String after) throws InterruptedException {
        Map<String, List<String>> now = publishing.settled().order();
        before.order().forEach((pool, wanted) -> compare(pool, wanted, now.getOrDefault(pool, List.of()), after));
    }

    private static void compare(String pool, List<String> wanted, List<String> now, String after) {
        for (int place = 0; place < Math.min(wanted.size(), now.size()); place++) {
            Violation.unless(wanted.get(place).equals(now.get(place)))
                    .because(
                            "after %s the slices of pool %s, sorted by name, have their %d devices in another order: in place %d is %s, where %s was",
                            after, pool, wanted.size(), place + 1, now.get(place), wanted.get(place));
        }
    }
}
