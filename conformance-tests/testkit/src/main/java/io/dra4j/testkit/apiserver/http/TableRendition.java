// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;
import io.dra4j.testkit.apiserver.validation.MetadataRules;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

/** Rows for people, as {@code kubectl get} asks for them. In a watch only the first event names the columns. */
final class TableRendition implements Rendition {
    private final String includeObject;
    private final InstantSource clock;
    private boolean columnsSent;

    /** The object in a row is Metadata (also when empty), Object or None. */
    TableRendition(String includeObject, InstantSource clock) {
        this.includeObject = includeObject;
        this.clock = clock;
    }

    @Override
    public Body object(StoredObject object) {
        Listing one = Listing.whole(object.revision(), List.of(object));
        return Body.json(table(object.kind(), one));
    }

    @Override
    public Body list(ResourceKind kind, Listing listing) {
        return Body.json(table(kind, listing));
    }

    @Override
    public byte[] event(WatchEvent event) {
        if (!event.type().equals("BOOKMARK")) {
            return Rendition.super.event(event);
        }
        ObjectNode table = table(event.object().kind(), Listing.whole(0, List.of()));
        table.set("metadata", event.object().json().path("metadata"));
        return Rendition.line(event.type(), JsonTrees.bytes(table));
    }

    private ObjectNode table(ResourceKind kind, Listing listing) {
        List<TableColumns.Column> columns = TableColumns.of(kind);
        ObjectNode table = JsonTrees.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
        table.set("metadata", listing.metadata());
        table.putNull("columnDefinitions");
        if (!columnsSent) {
            ArrayNode definitions = table.putArray("columnDefinitions");
            columns.forEach(column -> definitions.add(column.definition()));
            columnsSent = true;
        }
        ArrayNode rows = table.putArray("rows");
        Instant now = clock.instant();
        listing.objects().forEach(object -> rows.add(row(object, columns, now)));
        return table;
    }

    private ObjectNode row(StoredObject object, List<TableColumns.Column> columns, Instant now) {
        ObjectNode row = JsonTrees.object();
        ArrayNode cells = row.putArray("cells");
        columns.forEach(column -> cells.add(column.text().apply(object.json(), now)));
        switch (includeObject) {
            case "None" -> {}
            case "Object" -> row.set("object", object.json());
            default -> row.set("object", Metadata.partial(object.json()));
        }
        return row;
    }

    /** The columns that {@code kubectl get} shows of each kind. */
    private static final class TableColumns {
        /** One column: its title, and how a cell is made from an object at a given time. */
        record Column(String title, String format, BiFunction<JsonNode, Instant, String> text) {
            ObjectNode definition() {
                return JsonTrees.object()
                        .put("name", title)
                        .put("type", "string")
                        .put("format", format)
                        .put("description", "")
                        .put("priority", 0);
            }
        }

        private static final Column NAME =
                new Column("Name", "name", (object, now) -> JsonTrees.text(object, "metadata", "name"));
        private static final Column AGE = new Column("Age", "", TableColumns::age);
        private static final Column NODE = column("Node", "spec.nodeName");
        private static final Column DRIVER = column("Driver", "spec.driver");
        private static final Column POOL = column("Pool", "spec.pool.name");
        private static final Column VERSION = column("Version", "status.nodeInfo.kubeletVersion");

        private TableColumns() {}

        static List<Column> of(ResourceKind kind) {
            return switch (kind.plural()) {
                case "resourceslices" -> columns(NODE, DRIVER, POOL);
                case "resourceclaims" -> columns(computed("State", TableColumns::claimState));
                case "nodes" -> columns(computed("Status", TableColumns::nodeStatus), VERSION);
                case "namespaces", "pods" -> columns(column("Status", "status.phase"));
                case "leases" -> columns(column("Holder", "spec.holderIdentity"));
                case "events" -> columns(column("Type", "type"), column("Reason", "reason"));
                default -> columns();
            };
        }

        private static List<Column> columns(Column... between) {
            List<Column> columns = new ArrayList<>(List.of(NAME, AGE));
            columns.addAll(1, List.of(between));
            return columns;
        }

        private static Column column(String title, String path) {
            String[] steps = path.split("\\.");
            return computed(title, object -> {
                String text = JsonTrees.text(object, steps);
                return text.isEmpty() ? "<unset>" : text;
            });
        }

        private static Column computed(String title, Function<JsonNode, String> text) {
            return new Column(title, "", (object, now) -> text.apply(object));
        }

        private static String claimState(JsonNode claim) {
            StringBuilder state = new StringBuilder();
            if (MetadataRules.isDeleting(claim)) {
                state.append("deleted,");
            }
            if (!claim.path("status").hasNonNull("allocation")) {
                return state + "pending";
            }
            state.append("allocated");
            if (!JsonTrees.at(claim, "status", "reservedFor").isEmpty()) {
                state.append(",reserved");
            }
            return state.toString();
        }

        private static String nodeStatus(JsonNode node) {
            return JsonTrees.at(node, "status", "conditions")
                    .valueStream()
                    .filter(condition -> JsonTrees.text(condition, "type").equals("Ready"))
                    .findFirst()
                    .map(one -> JsonTrees.text(one, "status").equals("True") ? "Ready" : "NotReady")
                    .orElse("Unknown");
        }

        private static String age(JsonNode object, Instant now) {
            String created = JsonTrees.text(object, "metadata", "creationTimestamp");
            if (created.isEmpty()) {
                return "<unknown>";
            }
            Duration age = Duration.between(Instant.parse(created), now);
            if (age.compareTo(Duration.ofMinutes(2)) < 0) {
                return Math.max(0, age.toSeconds()) + "s";
            }
            if (age.compareTo(Duration.ofHours(2)) < 0) {
                return age.toMinutes() + "m";
            }
            return age.compareTo(Duration.ofDays(2)) < 0 ? age.toHours() + "h" : age.toDays() + "d";
        }
    }
}
