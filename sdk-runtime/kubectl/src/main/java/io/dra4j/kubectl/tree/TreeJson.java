// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.tree;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.kubectl.tree.Branch.PoolBranch;
import io.dra4j.kubectl.tree.Branch.UsedCounter;
import io.dra4j.kubectl.tree.Branch.UsedDevice;
import io.dra4j.kubectl.tree.Branch.User;
import java.util.List;

/** Writes branches for tools. */
final class TreeJson {

    private TreeJson() {}

    static String of(List<Branch> branches) {
        ObjectNode root = JsonNodeFactory.instance.objectNode();
        ArrayNode places = root.putArray("places");
        branches.forEach(branch -> add(branch, places.addObject()));
        return root.toPrettyString() + "\n";
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
                    .forEach(counter -> add(counter, one.withArray("counters").addObject()));
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
