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
 * Decides as kube-scheduler of one release does which devices claims get on a node.
 *
 * <p>Pure: the answer depends on the arguments alone, but for the time limit. Safe for use by many
 * threads; selectors are compiled once for all of them.
 *
 * <p>Releases before 1.36 try pools in random order, here they are tried in the order of 1.36: for
 * these, whether claims fit can be relied on, and which devices they get cannot.
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

    /**
     * Makes an allocator that decides by the documented rules.
     *
     * @throws IllegalArgumentException if a gate is on whose rules are not known
     */
    public static Allocator of(FeatureGates gates) {
        return of(gates, Set.of(), InstantSource.system());
    }

    /**
     * Makes an allocator that decides as the release does, with its known bugs.
     *
     * @throws IllegalArgumentException if a gate is on whose rules are not known
     */
    public static Allocator asReleased(FeatureGates gates) {
        return of(gates, SchedulerBug.of(gates.version()), InstantSource.system());
    }

    /**
     * Makes an allocator with chosen bugs, for the time of a clock.
     *
     * @throws IllegalArgumentException if a gate is on whose rules are not known
     */
    public static Allocator of(FeatureGates gates, Set<SchedulerBug> bugs, InstantSource clock) {
        return new Allocator(new Behaviour(gates, bugs), clock, TIME_LIMIT, new Expressions());
    }

    /** Returns an allocator that decides the same, and gives up on a node after another time. */
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
