// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.http.TableColumns.Column;
import io.dra4j.testkit.apiserver.model.Json;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/**
 * Rows for people, as {@code kubectl get} asks for them. In a watch only the first event names the
 * columns.
 */
final class TableRendition extends Rendition {
    private final String includeObject;
    private final InstantSource clock;
    private boolean columnsSent;

    /**
     * @param includeObject what a row carries: Metadata (also when empty), Object or None
     */
    TableRendition(String includeObject, InstantSource clock) {
        this.includeObject = includeObject;
        this.clock = clock;
    }

    @Override
    Body object(StoredObject object) {
        Listing one = Listing.whole(object.revision(), List.of(object));
        return Body.json(table(object.kind(), one));
    }

    @Override
    Body list(ResourceKind kind, Listing listing) {
        return Body.json(table(kind, listing));
    }

    @Override
    byte[] event(WatchEvent event) {
        if (!event.type().equals("BOOKMARK")) {
            return super.event(event);
        }
        ObjectNode table = table(event.object().kind(), Listing.whole(0, List.of()));
        table.set("metadata", event.object().json().path("metadata"));
        return line(event.type(), Json.bytes(table));
    }

    private ObjectNode table(ResourceKind kind, Listing listing) {
        List<Column> columns = TableColumns.of(kind);
        ObjectNode table = Json.object().put("kind", "Table").put("apiVersion", "meta.k8s.io/v1");
        table.set("metadata", listing.metadata());
        ArrayNode definitions = table.putArray("columnDefinitions");
        if (!columnsSent) {
            columns.forEach(column -> definitions.add(column.definition()));
            columnsSent = true;
        }
        ArrayNode rows = table.putArray("rows");
        Instant now = clock.instant();
        listing.objects().forEach(object -> rows.add(row(object, columns, now)));
        return table;
    }

    private ObjectNode row(StoredObject object, List<Column> columns, Instant now) {
        ObjectNode row = Json.object();
        ArrayNode cells = row.putArray("cells");
        columns.forEach(column -> cells.add(column.cell(object.json(), now)));
        switch (includeObject) {
            case "None" -> {}
            case "Object" -> row.set("object", object.json());
            default -> row.set("object", Metadata.partial(object.json()));
        }
        return row;
    }
}
