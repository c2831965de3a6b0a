// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.apply.Patches;
import io.dra4j.testkit.apiserver.model.ApiFailure;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ObjectKey;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import io.dra4j.testkit.apiserver.registry.Registry;
import io.dra4j.testkit.apiserver.registry.Registry.Target;
import io.dra4j.testkit.apiserver.registry.WriteOptions;
import io.dra4j.testkit.apiserver.store.ObjectStore;
import io.dra4j.testkit.apiserver.validation.Strategy.Part;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each gated field, kept, dropped or refused: in each release, with its gate on and off. */
class GatedFieldsTest {
    /**
     * The kind and the object that the field is added to; the gate; the releases that know the
     * field; the field below that object; what becomes of the write without the gate; the change.
     */
    private static final Path FIELDS =
            Path.of("src/test/resources/io/dra4j/testkit/apiserver/validation/gated-fields.txt");

    private static final String SLICE =
            "{'metadata':{'name':'o'},'spec':{'driver':'gpu.example.com','nodeName':'n','devices':[{'name':'gpu-0'}],"
                    + "'pool':{'name':'n','generation':1,'resourceSliceCount':1}}}";
    private static final String REQUESTS = "'devices':{'requests':[{'name':'r','exactly':{'deviceClassName':'gpu'}}],"
            + "'constraints':[{'matchAttribute':'gpu.example.com/d'}]}";
    private static final String CLAIM = "{'metadata':{'name':'o'},'spec':{" + REQUESTS + "}}";
    private static final String TEMPLATE = "{'metadata':{'name':'o'},'spec':{'spec':{" + REQUESTS + "}}}";
    private static final String ALLOCATED = "{'metadata':{'name':'o'},'spec':{"
            + REQUESTS
            + "},'status':{'allocation':{'devices':{'results':["
            + "{'request':'r','driver':'gpu.example.com','pool':'n','device':'gpu-0'}]}}}}";

    /** An object of a kind, and where in it the changes of a row go. */
    enum Place {
        SLICE("resourceslices", GatedFieldsTest.SLICE, "/spec"),
        DEVICE("resourceslices", GatedFieldsTest.SLICE, "/spec/devices/0"),
        CLASS("deviceclasses", "{'metadata':{'name':'o'},'spec':{}}", "/spec"),
        REQUEST("resourceclaims", GatedFieldsTest.CLAIM, "/spec/devices/requests/0"),
        TEMPLATE("resourceclaimtemplates", GatedFieldsTest.TEMPLATE, "/spec/spec/devices/requests/0"),
        CLAIM("resourceclaims", GatedFieldsTest.CLAIM, "/spec/devices"),
        RESULT("resourceclaims", ALLOCATED, "/status/allocation/devices/results/0"),
        STATUS("resourceclaims", ALLOCATED, "/status");

        final String plural;
        final String plain;
        final String parent;

        Place(String plural, String plain, String parent) {
            this.plural = plural;
            this.plain = plain;
            this.parent = parent;
        }

        boolean isOfStatus() {
            return parent.startsWith("/status");
        }

        ObjectNode with(String change) {
            ObjectNode object = tree(plain);
            Patches.merge((ObjectNode) object.at(parent), tree("{" + change + "}"));
            return object;
        }
    }

    /** A row of the table for one release. */
    record Row(
            Place place,
            FeatureGate gate,
            KubernetesVersion version,
            boolean known,
            String field,
            boolean refused,
            String change) {

        /** In 1.34 a device consumes counters only of its own slice, which has none here. */
        boolean isPossible() {
            return version != KubernetesVersion.V1_34 || !change.contains("consumesCounters");
        }

        boolean isIn(ObjectNode object) {
            return !object.at(place.parent + "/" + field).isMissingNode();
        }

        @Override
        public String toString() {
            return "1." + version.minor() + " " + gate.text() + " " + place + " " + field;
        }
    }

    static Stream<Row> rows() throws IOException {
        return Files.readAllLines(FIELDS).stream().flatMap(GatedFieldsTest::rows);
    }

    private static Stream<Row> rows(String line) {
        List<String> cells = Stream.of(line.split("\\|")).map(String::strip).toList();
        FeatureGate gate = Stream.of(FeatureGate.values())
                .filter(one -> one.text().equals(cells.get(1)))
                .findFirst()
                .orElseThrow();
        Place place = Place.valueOf(cells.get(0).toUpperCase(Locale.ROOT));
        Stream<Place> places = place == Place.REQUEST ? Stream.of(place, Place.TEMPLATE) : Stream.of(place);
        return places.flatMap(one -> Arrays.stream(KubernetesVersion.values())
                        .map(version -> new Row(
                                one,
                                gate,
                                version,
                                knows(version, cells.get(2)),
                                cells.get(3),
                                cells.get(4).equals("refused"),
                                cells.get(5))))
                .filter(Row::isPossible);
    }

    private static boolean knows(KubernetesVersion version, String range) {
        String[] ends = range.split("-");
        return version.atLeast(KubernetesVersion.parse(ends[0]))
                && (ends.length == 1 || KubernetesVersion.parse(ends[1]).atLeast(version));
    }

    /** A server's verbs, on a store that outlives it. */
    private static final class Cluster {
        private final ObjectStore store = new ObjectStore(100);
        private final ResourceKinds kinds;
        private final KubernetesVersion version;

        Cluster(KubernetesVersion version) {
            this.version = version;
            this.kinds = new ResourceKinds(version);
            ObjectNode namespace =
                    tree("{'metadata':{'name':'default','labels':{'resource.kubernetes.io/admin-access':'true'}}}");
            server(gate -> false).create(kinds.namespaces(), "", namespace, WriteOptions.DEFAULT);
        }

        private Registry server(Predicate<FeatureGate> enabled) {
            Map<FeatureGate, Boolean> states = new EnumMap<>(FeatureGate.class);
            for (FeatureGate gate : FeatureGate.values()) {
                if (gate.existsIn(version)) {
                    states.put(gate, gate.isLockedIn(version) || enabled.test(gate));
                }
            }
            MetadataRules metadata = new MetadataRules(InstantSource.system(), new SplittableRandom(1));
            FeatureGates gates = new FeatureGates(version, states);
            return new Registry(kinds, store, metadata, Strategies.of(gates, metadata, kinds, store));
        }

        /** Writes an object with its status, with one gate as given and all others on. */
        ObjectNode write(Place place, ObjectNode object, FeatureGate gate, boolean on) {
            Registry server = server(one -> on || one != gate);
            ResourceKind kind = kinds.named(place.plural);
            ObjectKey key = kind.key("default", "o");
            Target main = new Target(kind, key, Part.MAIN);
            if (store.find(kind, key) == null) {
                server.create(kind, key.namespace(), object.deepCopy(), WriteOptions.DEFAULT);
            } else if (!place.isOfStatus()) {
                server.update(main, object.deepCopy(), WriteOptions.DEFAULT);
            }
            if (place.isOfStatus()) {
                Target status = new Target(kind, key, Part.STATUS);
                server.update(status, object.deepCopy(), WriteOptions.DEFAULT);
            }
            return server.get(kind, key).copy();
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void aNewObjectKeepsTheFieldWithTheGateOn(Row row) {
        boolean kept = row.known() && row.gate().existsIn(row.version());

        assertOutcome(row, kept, new Cluster(row.version()), true);
    }

    static Stream<Row> rowsThatCanBeOff() throws IOException {
        return rows().filter(row -> !row.gate().isLockedIn(row.version()));
    }

    @ParameterizedTest
    @MethodSource("rowsThatCanBeOff")
    void aNewObjectLosesItWithTheGateOff(Row row) {
        assertOutcome(row, false, new Cluster(row.version()), false);
    }

    @ParameterizedTest
    @MethodSource("rowsThatCanBeOff")
    void anObjectThatHasItKeepsItWithTheGateOff(Row row) {
        if (!row.known() || !row.gate().existsIn(row.version())) {
            return;
        }
        Cluster cluster = new Cluster(row.version());
        ObjectNode object = row.place().with(row.change());
        cluster.write(row.place(), object, row.gate(), true);
        JsonTrees.metadata(object).putObject("labels").put("a", "b");

        assertThat(row.isIn(cluster.write(row.place(), object, row.gate(), false)))
                .isTrue();
    }

    static Stream<Row> rowsThatCanChange() throws IOException {
        Set<Place> immutable = EnumSet.of(Place.CLAIM, Place.REQUEST, Place.TEMPLATE);
        return rowsThatCanBeOff().filter(row -> !immutable.contains(row.place()));
    }

    @ParameterizedTest
    @MethodSource("rowsThatCanChange")
    void anObjectWithoutItCannotGetItWithTheGateOff(Row row) {
        Cluster cluster = new Cluster(row.version());
        cluster.write(row.place(), tree(row.place().plain), row.gate(), true);

        assertOutcome(row, false, cluster, false);
    }

    private static void assertOutcome(Row row, boolean kept, Cluster cluster, boolean on) {
        ObjectNode object = row.place().with(row.change());
        if (!kept && row.refused()) {
            assertThat(refused(() -> cluster.write(row.place(), object, row.gate(), on)))
                    .isEqualTo(422);
        } else {
            assertThat(row.isIn(cluster.write(row.place(), object, row.gate(), on)))
                    .isEqualTo(kept);
        }
    }

    private static int refused(Runnable write) {
        try {
            write.run();
            return 200;
        } catch (ApiFailure failure) {
            return failure.code();
        }
    }
}
