// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.explain;

import io.dra4j.allocator.Obstacle.Kind;
import io.dra4j.allocator.explain.Change.Place;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import io.dra4j.allocator.model.Taint;
import io.dra4j.allocator.model.TaintRule;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Lists the changes that could help. */
record Changes(Question question) {

    List<Change> of(Kind kind) {
        Stream<? extends Change> all = switch (kind) {
            case TAINTS -> tolerations();
            case HOLDERS -> releases();
            case REQUEST_SELECTORS -> requests(Changes::selectors);
            case CLASS_SELECTORS -> classSelectors();
            case CONSTRAINTS -> constraints();
            case COUNTERS ->
                slices().filter(Changes::consumesCounters)
                        .map(Slice::pool)
                        .distinct()
                        .map(Change.IgnoreCounters::new);
            case CAPACITY_REQUESTS -> requests(Changes::capacities);
            case COUNT -> requests(Changes::counts);
            case NODE ->
                slices().filter(slice -> slice.perDevice() || !isHere(slice))
                        .map(Slice::pool)
                        .distinct()
                        .map(Change.OpenPool::new);
        };
        return all.map(Change.class::cast).toList();
    }

    private Stream<Slice> slices() {
        return question.cluster().slices().stream();
    }

    private boolean isHere(Slice slice) {
        return slice.nodes().includes(question.node());
    }

    private static boolean consumesCounters(Slice slice) {
        return slice.devices().stream().anyMatch(device -> !device.consumes().isEmpty());
    }

    private Stream<Change> tolerations() {
        List<Taint> taints = Stream.concat(
                        slices().flatMap(slice -> slice.devices().stream())
                                .map(Device::taints)
                                .flatMap(List::stream),
                        question.cluster().taintRules().stream().map(TaintRule::taint))
                .distinct()
                .toList();
        return requests((place, asked) -> taints.stream()
                .filter(taint -> !tolerates(asked, taint))
                .map(taint -> new Change.Tolerate(place, taint)));
    }

    private static boolean tolerates(SubRequest asked, Taint taint) {
        return asked.tolerations().stream().anyMatch(one -> one.tolerates(taint));
    }

    private Stream<Change> releases() {
        return question.cluster().claims().stream()
                .filter(claim -> !claim.devices().isEmpty())
                .map(claim -> new Change.Release(claim.fullName()));
    }

    private Stream<Change> classSelectors() {
        return question.claims().stream()
                .flatMap(claim -> claim.requests().stream())
                .flatMap(request -> request.alternatives().stream())
                .map(SubRequest::deviceClass)
                .distinct()
                .flatMap(name -> question.cluster().deviceClass(name).stream())
                .flatMap(Changes::selectors);
    }

    private static Stream<Change> selectors(DeviceClass one) {
        return IntStream.range(1, one.selectors().size())
                .mapToObj(i -> new Change.DropClassSelector(
                        one.name(), i, one.selectors().get(i)));
    }

    private static Stream<Change> selectors(Place place, SubRequest asked) {
        return IntStream.range(0, asked.selectors().size())
                .mapToObj(i -> new Change.DropRequestSelector(
                        place, i, asked.selectors().get(i)));
    }

    private Stream<Change> constraints() {
        return question.claims().stream()
                .flatMap(claim -> IntStream.range(0, claim.constraints().size()).mapToObj(i -> constraint(claim, i)));
    }

    private static Change constraint(Claim claim, int index) {
        return new Change.DropConstraint(
                claim.fullName(), index, claim.constraints().get(index).toString());
    }

    private static Stream<Change> capacities(Place place, SubRequest asked) {
        return asked.capacity().keySet().stream().map(name -> new Change.DropCapacity(place, name));
    }

    private static Stream<Change> counts(Place place, SubRequest asked) {
        return asked.mode().equals(SubRequest.EXACT_COUNT) && asked.count() > 1
                ? Stream.of(new Change.RequestFewer(place, 1))
                : Stream.empty();
    }

    static long count(Question question, Place place) {
        for (Claim claim : question.claims()) {
            for (DeviceRequest request : claim.requests()) {
                for (SubRequest asked : request.alternatives()) {
                    if (place.equals(new Place(claim.fullName(), request.nameOf(asked)))) {
                        return asked.count();
                    }
                }
            }
        }
        throw new IllegalArgumentException("there is no " + place);
    }

    /** The changes of each alternative of each request. */
    private Stream<Change> requests(BiFunction<Place, SubRequest, Stream<? extends Change>> changes) {
        Stream.Builder<Change> all = Stream.builder();
        for (Claim claim : question.claims()) {
            for (DeviceRequest request : claim.requests()) {
                for (SubRequest asked : request.alternatives()) {
                    Place place = new Place(claim.fullName(), request.nameOf(asked));
                    changes.apply(place, asked).forEach(all::add);
                }
            }
        }
        return all.build();
    }
}
