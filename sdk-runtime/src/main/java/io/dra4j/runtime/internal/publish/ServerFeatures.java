// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.publish;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.rules.Release;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.SliceStore;
import io.dra4j.runtime.internal.cluster.SliceStore.Content;
import io.dra4j.runtime.internal.cluster.SliceStore.Stored;
import io.dra4j.runtime.internal.publish.plan.CounterLayout;
import io.dra4j.runtime.internal.publish.plan.Feature;
import io.dra4j.runtime.internal.publish.plan.FeatureProbe;
import io.dra4j.runtime.internal.publish.plan.Publishable;
import io.dra4j.runtime.internal.validate.PoolRules;
import io.dra4j.runtime.internal.validate.PoolVerdict;
import io.dra4j.runtime.internal.validate.Problem;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes which features the API server keeps, before a device needs them.
 *
 * <p>A probe is a dry-run create of a slice with one device: the server returns what it would keep, and keeps nothing,
 * so no consumer ever sees a device without its guards. A yes holds until the connection breaks; a no is probed again
 * after half an hour, because gates can be switched on. The server's release, whose rules apply and which decides where
 * counter sets belong, is read once for each connection. If it can't be read, pools without counter sets that all
 * releases would take are published without it; the others wait. Used only on the loop's thread.
 */
final class ServerFeatures {

    private static final Logger LOG = LoggerFactory.getLogger(ServerFeatures.class);
    private static final Duration NO_LASTS = Duration.ofMinutes(30);

    private final SliceStore store;
    private final InstantSource clock;
    private final Set<Feature> kept = EnumSet.noneOf(Feature.class);
    private final Map<Feature, Instant> missing = new EnumMap<>(Feature.class);
    private final AcceptedSlices accepted;
    private final PoolRules rules;
    private final Map<KubernetesVersion, FeatureGates> gates = new EnumMap<>(KubernetesVersion.class);
    private @Nullable KubernetesVersion release;
    private boolean isUnreadable;

    ServerFeatures(SliceStore store, InstantSource clock) {
        this.store = store;
        this.accepted = new AcceptedSlices(store::refusals);
        this.rules = new PoolRules(store.driver(), accepted);
        this.clock = clock;
    }

    /**
     * Returns the features of a pool that the server would leave out.
     *
     * <p>A feature that slices in the cluster have is assumed to be kept, until something is written: a server whose
     * gate was switched off keeps it there, and drops it elsewhere.
     *
     * @param existing its slices in the cluster; none if something will be written
     * @throws ClusterException if the server can't be reached
     */
    Set<Feature> missing(Pool pool, Collection<Stored> existing) {
        Set<Feature> left = EnumSet.noneOf(Feature.class);
        Pool prepared = Publishable.of(pool, Set.of()).pool();
        for (Feature feature : Feature.values()) {
            if (feature.usedBy(prepared) && !isKept(feature, pool, existing)) {
                left.add(feature);
            }
        }
        return left;
    }

    /**
     * Returns the rules that a pool breaks: those of all servers, and those of this server for the part that it would
     * be sent.
     *
     * @throws ClusterException if the server can't be reached, or does not report its release and the pool depends on
     *     it
     */
    PoolVerdict verdict(Pool pool, Collection<Stored> existing) {
        accepted.retain(pool);
        PoolVerdict verdict = rules.verdict(pool);
        if (!verdict.isGood()) {
            return verdict;
        }
        Set<Feature> missing = missing(pool, existing);
        Pool sent = Publishable.of(pool, missing).pool();
        if (!isReleaseKnown() && !Feature.COUNTERS.usedBy(sent) && isTakenByAllReleases(sent)) {
            return verdict;
        }
        List<Problem> ofLayout = layout(sent).problems(sent);
        return ofLayout.isEmpty() ? refusals(sent, release()) : PoolVerdict.ofPool(ofLayout);
    }

    /** Reads the release even if no pool depends on it, for the log and a metric: once, as it may take long. */
    private boolean isReleaseKnown() {
        if (release == null && !isUnreadable) {
            try {
                release();
            } catch (ClusterException e) {
                isUnreadable = true;
                LOG.atDebug().setCause(e).log("The release of the API server can't be read; few pools depend on it");
            }
        }
        return release != null;
    }

    private boolean isTakenByAllReleases(Pool sent) {
        return Stream.of(KubernetesVersion.values())
                .allMatch(one -> refusals(sent, one).isGood());
    }

    /** Without the features that the server does not keep, their gates make no difference. */
    private PoolVerdict refusals(Pool sent, KubernetesVersion release) {
        return rules.refusals(
                sent, gates.computeIfAbsent(release, FeatureGates::allOn), CounterLayout.of(release)::besides);
    }

    /**
     * Returns where the counter sets of a pool belong; irrelevant for a pool without any.
     *
     * @throws ClusterException if the server can't be reached
     */
    CounterLayout layout(Pool pool) {
        return Feature.COUNTERS.usedBy(pool) ? CounterLayout.of(release()) : CounterLayout.APART;
    }

    /** Treats a server that does not report its release as a new one. */
    private KubernetesVersion release() {
        KubernetesVersion known = release;
        if (known == null) {
            known = store.kubernetes().map(Release::nearest).orElse(KubernetesVersion.newest());
            release = known;
        }
        return known;
    }

    /** Remembers that the server left out a feature of a slice that was written. */
    void lost(Feature feature) {
        kept.remove(feature);
        missing.put(feature, clock.instant());
    }

    private boolean isKept(Feature feature, Pool pool, Collection<Stored> existing) {
        Instant since = missing.get(feature);
        if (since != null && clock.instant().isBefore(since.plus(NO_LASTS))) {
            return false;
        }
        if (kept.contains(feature) || (since == null && isSeen(feature, existing))) {
            return true;
        }
        if (FeatureProbe.isKept(feature, store, pool.name(), () -> layout(pool))) {
            kept.add(feature);
            missing.remove(feature);
            return true;
        }
        missing.put(feature, clock.instant());
        return false;
    }

    /** The server may be another one now, or have been restarted with other gates. */
    void probeAgain() {
        kept.clear();
        refused();
    }

    /** The server refused a pool: it may be of another release now. */
    void refused() {
        release = null;
        isUnreadable = false;
    }

    private static boolean isSeen(Feature feature, Collection<Stored> existing) {
        return existing.stream().map(Stored::content).anyMatch(feature::usedBy);
    }

    /**
     * The rule book with a cache of valid slices: when a pool changes, most of its devices stay as they are. Of a device
     * that changes only the last slice is kept. Used only on the loop's thread.
     */
    static final class AcceptedSlices implements BiFunction<Content, FeatureGates, List<FieldError>> {

        /** A pool of a thousand devices has a few thousand entries, one for each device and release. */
        private static final int MOST = 20_000;

        private final BiFunction<Content, FeatureGates, List<FieldError>> book;
        private final Map<Subject, Content> known = new HashMap<>();

        /** The subject of a slice. Gates are equal if they are the same object. */
        private record Subject(PoolName pool, List<DeviceName> devices, List<String> counterSets, FeatureGates gates) {}

        AcceptedSlices(BiFunction<Content, FeatureGates, List<FieldError>> book) {
            this.book = book;
        }

        @Override
        public List<FieldError> apply(Content content, FeatureGates gates) {
            Subject subject = new Subject(
                    content.pool(),
                    content.devices().stream().map(Device::name).toList(),
                    content.counterSets().stream().map(CounterSet::name).toList(),
                    gates);
            if (content.equals(known.get(subject))) {
                known.put(subject, content); // the devices of the last inventory, so that they are in memory once
                return List.of();
            }
            List<FieldError> errors = book.apply(content, gates);
            if (errors.isEmpty()) {
                if (known.size() == MOST) {
                    known.clear();
                }
                known.put(subject, content);
            }
            return errors;
        }

        /** Forgets the slices of devices and counter sets that a pool no longer has. */
        void retain(Pool pool) {
            Set<DeviceName> names = pool.devices().stream().map(Device::name).collect(Collectors.toSet());
            Set<String> sets = pool.counterSets().stream().map(CounterSet::name).collect(Collectors.toSet());
            known.keySet()
                    .removeIf(one -> one.pool.equals(pool.name())
                            && !(names.containsAll(one.devices) && sets.containsAll(one.counterSets)));
        }
    }
}
