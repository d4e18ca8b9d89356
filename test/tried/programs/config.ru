# Rack: an answer in two halves, with 2 s between them.
slow = Enumerator.new do |body|
  body << "first half\n"
  sleep 2
  body << "second half\n"
end
run ->(env) { [200, { 'Content-Type' => 'text/plain' }, env['PATH_INFO'] == '/slow' ? slow : ["ok\n"]] }
