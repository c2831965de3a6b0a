// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.ClaimResult.PreparedDevice;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The content of a result, to be compared: devices may come in any order, and more than once.
 *
 * @param devices a line for each device of the answer, sorted
 */
public record Reported(List<String> devices) {

    public static Reported of(ClaimResult answer) {
        return new Reported(
                answer.devices().stream().map(Reported::line).sorted().toList());
    }

    /** Everything except the share ids, which the older version of the service does not have. */
    public static Reported withoutShares(ClaimResult answer) {
        return new Reported(answer.devices().stream()
                .map(d -> new PreparedDevice(d.requests(), d.pool(), d.device(), d.cdiDeviceIds(), null))
                .map(Reported::line)
                .sorted()
                .toList());
    }

    private static String line(PreparedDevice device) {
        return "%s/%s for %s as %s%s"
                .formatted(
                        device.pool(),
                        device.device(),
                        device.requests().stream().sorted().toList(),
                        device.cdiDeviceIds().stream().sorted().toList(),
                        device.shareId() == null ? "" : ", share " + device.shareId());
    }

    public static Set<String> names(ClaimResult answer) {
        return answer.devices().stream()
                .map(device -> device.pool() + "/" + device.device())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The pools and names of devices, with those that claims get only together with them. */
    public static Set<String> names(Collection<PublishedDevice> devices) {
        return devices.stream()
                .flatMap(device -> device.withCompanions().stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    public static Set<String> names(PublishedDevice... devices) {
        return names(Arrays.asList(devices));
    }

    /** Returns whether an answer has just these devices, or {@linkplain #isNone none}. */
    public static boolean isOfAllOrNone(TestContext context, ClaimResult answer, Set<String> due) {
        return names(answer).equals(due) || isNone(context, answer);
    }

    /**
     * Returns whether an answer has no devices, as that for a plain claim: the driver needs nothing from the kubelet then.
     * To try such a claim, those of the rule are removed.
     */
    public static boolean isNone(TestContext context, ClaimResult answer) {
        return answer.devices().isEmpty()
                && context.shared(Reported.class, () -> plain(context))
                        .devices()
                        .isEmpty();
    }

    private static Reported plain(TestContext context) {
        context.tidy();
        Reported answer = of(context.calls()
                .prepared(context.claims().allocate(context.devices().one())));
        context.tidy();
        return answer;
    }

    @Override
    public String toString() {
        return devices.toString();
    }
}
