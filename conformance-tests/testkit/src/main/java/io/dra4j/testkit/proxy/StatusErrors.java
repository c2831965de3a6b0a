// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.proxy;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Answers a request that is no valid HTTP with a Status, as the API server does. */
final class StatusErrors extends ErrorHandler {

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int code = request.getAttribute(ERROR_STATUS) instanceof Integer status ? status : 500;
        String message =
                "the proxy before the API server cannot read the request: "
                        + request.getAttribute(ERROR_MESSAGE);
        byte[] json =
                WireFormat.JSON.object(
                        ProxyResponses.status(
                                code, code < 500 ? "BadRequest" : "InternalError", message));
        response.setStatus(code);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, WireFormat.JSON.mediaType());
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, json.length);
        response.write(true, ByteBuffer.wrap(json), callback);
        return true;
    }
}
