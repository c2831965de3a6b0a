// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Node;
import io.dra4j.rules.FeatureGates;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;

/**
 * Decides which devices claims get on a node, as kube-scheduler of one release does.
 *
 * <p>Pure: except for the time limit, the answer depends only on the arguments. Thread-safe; selectors are compiled
 * once for all threads.
 *
 * <p>Releases before 1.36 try pools in random order; here pools are always tried in the order of 1.36. For these
 * releases, the answer whether claims fit is reliable, but not which devices they get.
 */
public final class Allocator {
    /** The time after which a scheduler gives up on a node. */
    public static final Duration TIME_LIMIT = Duration.ofSeconds(10);

    private final Behaviour behaviour;
    private final InstantSource clock;
    private final Duration limit;
    private final Expressions expressions;

    private Allocator(Behaviour behaviour, InstantSource clock, Duration limit, Expressions expressions) {
        this.behaviour = behaviour;
        this.clock = clock;
        this.limit = limit;
        this.expressions = expressions;
    }

    /** Creates an allocator that decides by the documented rules. */
    public static Allocator of(FeatureGates gates) {
        return of(gates, Set.of(), InstantSource.system());
    }

    /** Creates an allocator that decides as the release does, with its known bugs. */
    public static Allocator asReleased(FeatureGates gates) {
        return of(gates, SchedulerBug.of(gates.version()), InstantSource.system());
    }

    /**
     * Creates an allocator with the given bugs and clock.
     *
     * @throws IllegalArgumentException if an enabled feature gate is not supported
     */
    public static Allocator of(FeatureGates gates, Set<SchedulerBug> bugs, InstantSource clock) {
        return new Allocator(new Behaviour(gates, bugs), clock, TIME_LIMIT, new Expressions());
    }

    public Allocator withTimeLimit(Duration other) {
        return new Allocator(behaviour, clock, other, expressions);
    }

    /**
     * Allocates all of these claims, or none.
     *
     * @param claims of one pod, in its order, that are not allocated yet
     */
    public Outcome allocate(ClusterState cluster, Node node, List<Claim> claims) {
        try {
            return new Attempt(behaviour, expressions, cluster, node).allocate(claims, deadline(node));
        } catch (AttemptException e) {
            return new Outcome.Failed(e.message());
        }
    }

    private NodeDeadline deadline(Node node) {
        return new NodeDeadline(clock, clock.instant().plus(limit), node.name());
    }
}
