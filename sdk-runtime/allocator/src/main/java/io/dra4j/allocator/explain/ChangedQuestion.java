// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.explain.Change.Place;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Constraint;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.Toleration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Applies changes to a question. */
final class ChangedQuestion {
    private final Question question;
    private final Set<Change> changes;
    private final Set<Kind> kinds = new HashSet<>();

    private ChangedQuestion(Question question, Collection<Change> changes) {
        this.question = question;
        this.changes = Set.copyOf(changes);
        changes.forEach(change -> kinds.add(change.kind()));
    }

    static Question of(Question question, Collection<Change> changes) {
        return new ChangedQuestion(question, changes).changed();
    }

    private Question changed() {
        ClusterState cluster = question.cluster();
        ClusterState changed = new ClusterState(
                cluster.classes().stream().map(this::deviceClass).toList(),
                cluster.slices().stream().map(this::slice).toList(),
                cluster.claims().stream()
                        .filter(one -> !isMade(new Change.Release(one.fullName())))
                        .toList(),
                cluster.taintRules());
        return new Question(
                changed,
                question.node(),
                question.claims().stream().map(this::claim).toList());
    }

    private boolean isMade(Change change) {
        return kinds.contains(change.kind()) && changes.contains(change);
    }

    private DeviceClass deviceClass(DeviceClass one) {
        return new DeviceClass(
                one.name(),
                kept(
                        one.selectors(),
                        i -> new Change.DropClassSelector(
                                one.name(), i, one.selectors().get(i))));
    }

    /** Returns the elements of a list whose change is not made. */
    private <T> List<T> kept(List<T> all, Function<Integer, Change> drop) {
        List<T> kept = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (!isMade(drop.apply(i))) {
                kept.add(all.get(i));
            }
        }
        return List.copyOf(kept);
    }

    private Slice slice(Slice slice) {
        Slice open = isMade(new Change.OpenPool(slice.pool())) ? slice.onAllNodes() : slice;
        return isMade(new Change.IgnoreCounters(slice.pool())) ? open.withoutCounters() : open;
    }

    private Claim claim(Claim claim) {
        List<Constraint> constraints = kept(
                claim.constraints(),
                i -> new Change.DropConstraint(
                        claim.fullName(), i, claim.constraints().get(i).toString()));
        List<DeviceRequest> requests =
                claim.requests().stream().map(one -> request(claim, one)).toList();
        return new Claim(claim.namespace(), claim.name(), requests, constraints, claim.devices());
    }

    private DeviceRequest request(Claim claim, DeviceRequest request) {
        return new DeviceRequest(
                request.name(),
                request.prioritized(),
                request.alternatives().stream()
                        .map(asked -> changed(new Place(claim.fullName(), request.nameOf(asked)), asked))
                        .toList());
    }

    private SubRequest changed(Place place, SubRequest asked) {
        List<String> selectors = kept(
                asked.selectors(),
                i -> new Change.DropRequestSelector(place, i, asked.selectors().get(i)));
        Map<String, Quantity> capacity = new LinkedHashMap<>(asked.capacity());
        capacity.keySet().removeIf(name -> isMade(new Change.DropCapacity(place, name)));
        lessen(place, capacity);
        SubRequest changed = asked.with(selectors, tolerations(place, asked), capacity);
        return count(place).map(changed::withCount).orElse(changed);
    }

    private Optional<Long> count(Place place) {
        return changes.stream()
                .filter(Change.RequestFewer.class::isInstance)
                .map(Change.RequestFewer.class::cast)
                .filter(one -> one.place().equals(place))
                .map(Change.RequestFewer::count)
                .findFirst();
    }

    private void lessen(Place place, Map<String, Quantity> capacity) {
        for (Change change : changes) {
            if (change instanceof Change.RequestLess less && less.place().equals(place)) {
                capacity.replace(less.capacity(), less.amount());
            }
        }
    }

    private List<Toleration> tolerations(Place place, SubRequest asked) {
        List<Toleration> all = new ArrayList<>(asked.tolerations());
        for (Change change : changes) {
            if (change instanceof Change.Tolerate added && added.place().equals(place)) {
                Taint taint = added.taint();
                all.add(new Toleration(taint.key(), "Equal", taint.value(), taint.effect()));
            }
        }
        return List.copyOf(all);
    }
}
