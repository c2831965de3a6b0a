// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import java.io.IOException;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Fields;

/**
 * A request, and the way that its response takes.
 *
 * @param path as it was sent
 * @param query reads the parameters; throws IllegalArgumentException or IllegalStateException if it cannot
 * @param status takes the status of the response, which is sent by the first write, like its headers
 * @param response takes the response's body
 * @param callback is notified when the response has been written
 * @param disconnect cuts the response off
 */
record Transport(
        String method,
        String path,
        Supplier<Fields> query,
        HttpFields headers,
        Content.Source body,
        IntConsumer status,
        HttpFields.Mutable responseHeaders,
        Content.Sink response,
        Callback callback,
        Consumer<IOException> disconnect) {

    /** A request on a connection; a disconnect closes the connection or, for HTTP/2, only the stream. */
    static Transport of(Request request, Response response, Callback callback) {
        return new Transport(
                request.getMethod(),
                request.getHttpURI().getPath(),
                () -> Request.extractQueryParameters(request),
                request.getHeaders(),
                request,
                response::setStatus,
                response.getHeaders(),
                response,
                callback,
                cause -> disconnect(request, callback, cause));
    }

    private static void disconnect(Request request, Callback callback, IOException cause) {
        Connection connection = request.getConnectionMetaData().getConnection();
        if (connection instanceof HTTP2Connection) {
            callback.failed(cause);
        } else {
            connection.getEndPoint().close(cause);
        }
    }
}
