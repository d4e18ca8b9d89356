/** The application in the servers' languages: `/slow` gives one half at once, the other when a file is there. */
import { FIRST_HALF, SECOND_HALF, type Stage } from './stage.ts';

/** WSGI. */
export function pythonApp({ releaseFile }: Stage): string {
  return `import os, time

def app(environ, start_response):
    start_response('200 OK', [('Content-Type', 'text/plain')])
    return slow() if environ['PATH_INFO'] == '/slow' else [b'ok\\n']

def slow():
    yield ${bytes(FIRST_HALF)}
    while not os.path.exists(${JSON.stringify(releaseFile)}):
        time.sleep(0.02)
    yield ${bytes(SECOND_HALF)}

application = app
`;
}

/** Rack. */
export function rubyApp({ releaseFile }: Stage): string {
  return `slow = Enumerator.new do |body|
  body << ${JSON.stringify(FIRST_HALF)}
  sleep 0.02 until File.exist?(${JSON.stringify(releaseFile)})
  body << ${JSON.stringify(SECOND_HALF)}
end
run ->(env) { [200, { 'Content-Type' => 'text/plain' }, env['PATH_INFO'] == '/slow' ? slow : ["ok\\n"]] }
`;
}

function bytes(text: string): string {
  return `b${JSON.stringify(text)}`;
}
