// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import io.dra4j.testkit.apiserver.model.ApiFailure;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/**
 * Requests that never reach the API, such as an ambiguous path, get a Status as well, not a page
 * for people.
 */
final class StatusErrors extends ErrorHandler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int code = request.getAttribute(ERROR_STATUS) instanceof Integer status ? status : 500;
        Object message = request.getAttribute(ERROR_MESSAGE);
        ApiFailure failure =
                ApiFailure.transport(
                        code, message == null ? "no such request" : message.toString());
        new Exchange(request, response, callback).respond(failure);
        return true;
    }
}
