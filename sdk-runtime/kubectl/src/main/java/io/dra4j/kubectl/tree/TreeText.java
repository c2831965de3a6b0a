// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import io.dra4j.kubectl.tree.Branch.PoolBranch;
import io.dra4j.kubectl.tree.Branch.UsedCounter;
import io.dra4j.kubectl.tree.Branch.UsedDevice;
import io.dra4j.kubectl.tree.Branch.User;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Draws branches for people: one line for each device that is not simply free. */
final class TreeText {

    private static final int MOST_NAMES = 8;
    private static final String EMPTY = "There are no devices: no driver has published a ResourceSlice";

    private final StringBuilder out = new StringBuilder();

    static String of(List<Branch> branches) {
        TreeText text = new TreeText();
        branches.forEach(text::add);
        return branches.isEmpty() ? EMPTY + "\n" : text.out.toString();
    }

    private void add(Branch branch) {
        line("%s  (%d devices, %d in use)", branch.place(), branch.devices(), branch.inUse());
        for (PoolBranch pool : branch.pools()) {
            String problem = pool.problem().isEmpty() ? "" : "  " + pool.problem();
            line("  %s/%s%s", pool.driver(), pool.pool(), problem);
            pool.used().forEach(this::add);
            if (!pool.free().isEmpty()) {
                line("    %-14s %d: %s", "free", pool.free().size(), names(pool.free()));
            }
            counters(pool.counters()).forEach((set, left) -> line("    counters %s: %s left", set, left));
        }
    }

    private void add(UsedDevice device) {
        List<String> facts = new ArrayList<>();
        device.users().forEach(user -> facts.add(user(user)));
        if (!device.left().isEmpty()) {
            facts.add("left: " + String.join(", ", device.left()));
        }
        device.taints().forEach(taint -> facts.add("taint " + taint));
        if (!device.isInUse()) {
            facts.add(0, "free");
        }
        line("    %-14s %s", device.name(), facts.get(0));
        facts.stream().skip(1).forEach(fact -> line("    %-14s %s", "", fact));
    }

    private static String user(User user) {
        StringBuilder text = new StringBuilder(user.claim());
        if (!user.share().isEmpty()) {
            text.append(" (").append(String.join(", ", user.share())).append(')');
        }
        if (user.adminAccess()) {
            text.append(" (admin access)");
        }
        String nameless = user.grouped() ? "a group of pods" : "no pod";
        return text.append(", ")
                .append(user.pods().isEmpty() ? nameless : pods(user.pods()))
                .toString();
    }

    private static String pods(List<String> pods) {
        return (pods.size() == 1 ? "pod " : "pods ") + names(pods);
    }

    private static String names(List<String> names) {
        String first = String.join(", ", names.subList(0, Math.min(MOST_NAMES, names.size())));
        int more = names.size() - MOST_NAMES;
        return more > 0 ? first + " and " + more + " more" : first;
    }

    /** The counters of a set in one line. */
    private static Map<String, String> counters(List<UsedCounter> counters) {
        Map<String, String> bySet = new LinkedHashMap<>();
        for (UsedCounter one : counters) {
            String left = "%s %s of %s".formatted(one.counter(), one.left(), one.all());
            bySet.merge(one.set(), left, (before, next) -> before + ", " + next);
        }
        return bySet;
    }

    private void line(String format, Object... values) {
        out.append(format.formatted(values).stripTrailing()).append('\n');
    }
}
