// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.allocator.Holder;
import io.dra4j.allocator.model.CounterSet;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.NodeChoice;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.doctor.AsciiJson;
import io.dra4j.kubectl.read.ApiReader;
import io.dra4j.kubectl.read.ClaimInfo;
import io.dra4j.kubectl.read.ClusterReader;
import io.dra4j.kubectl.read.ConnectionOptions;
import io.dra4j.kubectl.read.OutputOptions;
import io.dra4j.kubectl.read.Snapshot;
import io.dra4j.kubectl.tree.TreeMain.Branch.PoolBranch;
import io.dra4j.kubectl.tree.TreeMain.Branch.UsedCounter;
import io.dra4j.kubectl.tree.TreeMain.Branch.UsedDevice;
import io.dra4j.kubectl.tree.TreeMain.Branch.User;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code tree}: nodes, pools, devices and their users. */
@Command(
        name = "tree",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description = {"Show who has which device: nodes, pools, devices in use, shares, counters.", ""})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class TreeMain implements Callable<Integer> {

    @Mixin
    private ConnectionOptions connection;

    @Option(names = "--driver", paramLabel = "NAME", description = "The devices of one driver.")
    private @Nullable String driver;

    @Option(names = "--node", paramLabel = "NAME", description = "The devices of one node.")
    private @Nullable String node;

    @Mixin
    private OutputOptions output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (ApiReader api = connection.connect()) {
            Snapshot snapshot = new ClusterReader(api).read();
            List<Branch> branches = new Branches(snapshot)
                    .of(pool -> driver == null || driver.equals(pool.driver())).stream()
                            .filter(one -> node == null || one.place().equals(node))
                            .toList();
            spec.commandLine()
                    .getOut()
                    .print(output.isJson() ? TreeJson.of(branches) : TreeText.of(branches, missing()));
            spec.commandLine().getOut().flush();
            return 0;
        }
    }

    private String missing() {
        List<String> chosen = Stream.of(driver == null ? "" : "driver " + driver, node == null ? "" : "node " + node)
                .filter(one -> !one.isEmpty())
                .toList();
        return "There are no devices"
                + (chosen.isEmpty()
                        ? ": no driver has published a ResourceSlice"
                        : " of " + String.join(" and ", chosen));
    }

    /** Draws branches for people: one line for each device that is not simply free. */
    private static final class TreeText {

        private static final int MOST_NAMES = 8;

        private final StringBuilder out = new StringBuilder();

        static String of(List<Branch> branches, String missing) {
            TreeText text = new TreeText();
            branches.forEach(text::add);
            return branches.isEmpty() ? missing + "\n" : text.out.toString();
        }

        private void add(Branch branch) {
            String s = branch.devices() == 1 ? "" : "s";
            line("%s  (%d device%s, %d in use)", branch.place(), branch.devices(), s, branch.inUse());
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

    /** Writes branches for tools. */
    private static final class TreeJson {

        private TreeJson() {}

        static String of(List<Branch> branches) {
            ObjectNode root = JsonNodeFactory.instance.objectNode();
            ArrayNode places = root.putArray("places");
            branches.forEach(branch -> add(branch, places.addObject()));
            return AsciiJson.of(root);
        }

        private static void add(Branch branch, ObjectNode json) {
            json.put(branch.isNode() ? "node" : "nodes", branch.place());
            ArrayNode pools = json.putArray("pools");
            for (PoolBranch pool : branch.pools()) {
                ObjectNode one = pools.addObject()
                        .put("driver", pool.driver())
                        .put("pool", pool.pool())
                        .put("generation", pool.generation());
                if (!pool.problem().isEmpty()) {
                    one.put("problem", pool.problem());
                }
                pool.used().forEach(device -> add(device, one.withArray("used").addObject()));
                texts(pool.free(), one.putArray("free"));
                pool.counters()
                        .forEach(counter ->
                                add(counter, one.withArray("counters").addObject()));
            }
        }

        private static void add(UsedDevice device, ObjectNode json) {
            json.put("name", device.name());
            for (User user : device.users()) {
                ObjectNode one = json.withArray("users").addObject().put("claim", user.claim());
                texts(user.pods(), one.putArray("pods"));
                texts(user.share(), one.putArray("share"));
                one.put("adminAccess", user.adminAccess());
            }
            texts(device.left(), json.putArray("left"));
            texts(device.taints(), json.putArray("taints"));
        }

        private static void add(UsedCounter counter, ObjectNode json) {
            json.put("set", counter.set())
                    .put("counter", counter.counter())
                    .put("left", counter.left())
                    .put("all", counter.all());
        }

        private static void texts(List<String> texts, ArrayNode array) {
            texts.forEach(array::add);
        }
    }

    /** Sorts the devices of a cluster by place, and finds their users. */
    record Branches(Snapshot snapshot) {
        private static final String ALL_NODES = "all nodes";
        private static final String SOME_NODES = "nodes by label";
        private static final String PER_DEVICE = "nodes by device";

        /** Returns the branches of the pools that are wanted, those of nodes first, by name. */
        List<Branch> of(Predicate<PoolId> wanted) {
            Map<PoolId, List<Slice>> pools = new TreeMap<>();
            for (Slice slice : snapshot.cluster().slices()) {
                if (wanted.test(slice.pool())) {
                    pools.computeIfAbsent(slice.pool(), id -> new ArrayList<>(1))
                            .add(slice);
                }
            }
            Map<String, List<PoolBranch>> nodes = new TreeMap<>();
            Map<String, List<PoolBranch>> others = new TreeMap<>();
            pools.forEach((id, slices) -> {
                NodeChoice choice = slices.get(0).nodes();
                String node = choice.nodeName();
                (node == null ? others : nodes)
                        .computeIfAbsent(node == null ? place(slices.get(0)) : node, key -> new ArrayList<>(1))
                        .add(pool(id, slices));
            });
            List<Branch> branches = new ArrayList<>();
            nodes.forEach((node, all) -> branches.add(new Branch(node, true, all)));
            others.forEach((place, all) -> branches.add(new Branch(place, false, all)));
            return branches;
        }

        private static String place(Slice slice) {
            return slice.perDevice() ? PER_DEVICE : slice.nodes().allNodes() ? ALL_NODES : SOME_NODES;
        }

        private PoolBranch pool(PoolId id, List<Slice> slices) {
            long generation = slices.stream().mapToLong(Slice::generation).max().orElseThrow();
            List<Slice> newest = slices.stream()
                    .filter(one -> one.generation() == generation)
                    .toList();
            List<UsedDevice> used = new ArrayList<>();
            List<String> free = new ArrayList<>();
            Map<CounterKey, Quantity> taken = new LinkedHashMap<>();
            for (Slice slice : newest) {
                for (Device device : slice.devices()) {
                    UsedDevice one = device(slice.id(device), device);
                    if (one.users().isEmpty() && one.taints().isEmpty()) {
                        free.add(one.name());
                    } else {
                        used.add(one);
                    }
                    if (one.isInUse()) {
                        take(device, taken);
                    }
                }
            }
            return new PoolBranch(
                    id.driver(), id.pool(), generation, problem(newest), used, free, counters(newest, taken));
        }

        private static String problem(List<Slice> newest) {
            long wanted = newest.get(0).sliceCount();
            return newest.size() == wanted ? "" : "incomplete: %d of %d slices".formatted(newest.size(), wanted);
        }

        private UsedDevice device(DeviceId id, Device device) {
            List<Holder> holders = snapshot.cluster().holders(id);
            List<String> left = new ArrayList<>();
            if (device.sharing() && !holders.isEmpty()) {
                device.capacity().forEach((name, capacity) -> {
                    Quantity rest = capacity.value().minus(snapshot.cluster().consumed(id, name));
                    left.add("%s %s of %s".formatted(name, rest, capacity.value()));
                });
            }
            Stream<Taint> byRule = snapshot.cluster().taintRules().stream()
                    .filter(rule -> rule.selects(id))
                    .map(TaintRule::taint);
            return new UsedDevice(
                    device.name(),
                    Stream.concat(device.taints().stream(), byRule)
                            .map(Taint::toString)
                            .distinct()
                            .toList(),
                    holders.stream()
                            .map(this::user)
                            .sorted(Comparator.comparing(User::adminAccess).thenComparing(User::claim))
                            .toList(),
                    left);
        }

        private User user(Holder holder) {
            ClaimInfo claim = snapshot.claims().get(holder.claim());
            List<String> share = new ArrayList<>();
            holder.device().consumedCapacity().forEach((name, amount) -> share.add(name + " " + amount));
            return new User(
                    holder.claim(),
                    claim == null ? List.of() : claim.pods(),
                    claim != null && claim.grouped(),
                    share,
                    holder.device().adminAccess());
        }

        private record CounterKey(String set, String counter) {}

        private static void take(Device device, Map<CounterKey, Quantity> taken) {
            for (CounterSet set : device.consumes()) {
                set.counters()
                        .forEach((name, amount) ->
                                taken.merge(new CounterKey(set.name(), name), amount, Quantity::plus));
            }
        }

        private static List<UsedCounter> counters(List<Slice> slices, Map<CounterKey, Quantity> taken) {
            List<UsedCounter> counters = new ArrayList<>();
            for (Slice slice : slices) {
                for (CounterSet set : slice.sharedCounters()) {
                    set.counters().forEach((name, all) -> {
                        Quantity used = taken.get(new CounterKey(set.name(), name));
                        if (used != null && used.compareTo(Quantity.ZERO) != 0) {
                            counters.add(new UsedCounter(
                                    set.name(), name, all.minus(used).toString(), all.toString()));
                        }
                    });
                }
            }
            return counters;
        }
    }

    /**
     * The pools whose devices are used from one place.
     *
     * @param place the name of a node, or a description of the nodes that the pools are for
     */
    record Branch(String place, boolean isNode, List<PoolBranch> pools) {

        int devices() {
            return pools.stream()
                    .mapToInt(pool -> pool.used().size() + pool.free().size())
                    .sum();
        }

        long inUse() {
            return pools.stream()
                    .flatMap(pool -> pool.used().stream())
                    .filter(UsedDevice::isInUse)
                    .count();
        }

        /**
         * A pool.
         *
         * @param problem why its devices are not allocated; empty if they are
         * @param used the devices in use, or with taints
         * @param free the names of the other devices
         * @param counters the counters that are partly used
         */
        record PoolBranch(
                String driver,
                String pool,
                long generation,
                String problem,
                List<UsedDevice> used,
                List<String> free,
                List<UsedCounter> counters) {}

        /**
         * A device with users or taints.
         *
         * @param left what its shares have left, such as {@code memory 30Gi of 80Gi}
         */
        record UsedDevice(String name, List<String> taints, List<User> users, List<String> left) {

            /** Returns whether a claim uses the device or a share of it; admin access does not count. */
            boolean isInUse() {
                return users.stream().anyMatch(user -> !user.adminAccess());
            }
        }

        /**
         * A claim that has a device, or a share of it.
         *
         * @param claim its namespace and name
         * @param grouped whether it is reserved for a group of pods
         * @param share what it consumes, such as {@code memory 50Gi}; empty if it has the whole device
         */
        record User(String claim, List<String> pods, boolean grouped, List<String> share, boolean adminAccess) {}

        /** A counter that allocated devices consume in part. */
        record UsedCounter(String set, String counter, String left, String all) {}
    }
}
